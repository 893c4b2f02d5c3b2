import Type, { type Static, type TSchema } from 'typebox';

/** `host` or `host:port`, in lower case. */
const HOST =
  /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*|\[[0-9a-f:.]+\])(?::\d{1,5})?$/;

const host = Type.Refine(
  Type.String(),
  (value) => HOST.test(value),
  () => 'must be a host name in lower case, with a port if it is not 443',
);

/** What the operator writes about a host. */
const hostEntry = Type.Union([
  host,
  Type.Object({ host, insecure: Type.Optional(Type.Boolean()) }, { additionalProperties: false }),
]);

const section = <Members extends Record<string, TSchema>>(members: Members) =>
  Type.Object(members, { additionalProperties: false });

/** The operator's file. Every member has a default. */
export const operatorFileSchema = section({
  deploy: Type.Optional(
    section({
      gitHosts: Type.Optional(Type.Array(hostEntry)),
      registries: Type.Optional(Type.Array(hostEntry)),
    }),
  ),
  runtime: Type.Optional(
    section({
      builds: Type.Optional(Type.Integer({ minimum: 1, maximum: 64 })),
    }),
  ),
});
export type OperatorFileText = Static<typeof operatorFileSchema>;
