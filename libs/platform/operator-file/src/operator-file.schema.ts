import { diskGb, memMb, vcpus } from '@berth/contracts/schema';
import { parseImageReference } from '@berth/kernel';
import Type, { type Static } from 'typebox';
import { llmSchema } from './llm.schema.js';
import { isResolverAddress, parseDestination } from './network-destination.js';
import { plansSchema } from './plans.schema.js';
import { section } from './section.schema.js';

/** `host` or `host:port`, in lower case. */
const HOST =
  /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)*|\[[0-9a-f:.]+\])(?::\d{1,5})?$/;

const RUNTIME_CLASS = /^[a-z][a-z0-9-]{0,31}$/;

const host = Type.Refine(
  Type.String(),
  (value) => HOST.test(value),
  () => 'must be a host name in lower case, with a port if it is not 443',
);

const imageReference = Type.Refine(
  Type.String(),
  (value) => parseImageReference(value) !== undefined,
  () => 'must be the reference of an image, such as docker.io/library/debian:12',
);

const runtimeClass = Type.Refine(
  Type.String(),
  (value) => RUNTIME_CLASS.test(value),
  () => 'must be the name of a runtime class, such as runc',
);

const destination = Type.Refine(
  Type.String(),
  (value) => parseDestination(value) !== undefined,
  () => 'must be an address or a network, with a port if it is for one port only: 10.1.2.0/24:5432',
);

const resolver = Type.Refine(
  Type.String(),
  isResolverAddress,
  () => 'must be the address of a resolver that is not a loopback address',
);

/** What the operator writes about a host. */
const hostEntry = Type.Union([
  host,
  Type.Object({ host, insecure: Type.Optional(Type.Boolean()) }, { additionalProperties: false }),
]);

/** The operator's file. Every member has a default. */
export const operatorFileSchema = section({
  llm: Type.Optional(llmSchema),
  plans: Type.Optional(plansSchema),
  deploy: Type.Optional(
    section({
      gitHosts: Type.Optional(Type.Array(hostEntry)),
      registries: Type.Optional(Type.Array(hostEntry)),
    }),
  ),
  computers: Type.Optional(
    section({
      memMb: Type.Optional(memMb({ description: 'MiB of memory of each new computer.' })),
      vcpus: Type.Optional(vcpus({ description: 'CPUs of each new computer.' })),
      diskGb: Type.Optional(diskGb({ description: 'GiB of disk of each new computer.' })),
    }),
  ),
  runtime: Type.Optional(
    section({
      image: Type.Optional(imageReference),
      pull: Type.Optional(Type.Enum(['missing', 'always', 'never'])),
      class: Type.Optional(runtimeClass),
      subidUser: Type.Optional(Type.String({ pattern: '^[a-z_][a-z0-9_-]{0,31}$' })),
      allowRoot: Type.Optional(Type.Boolean()),
      pidsLimit: Type.Optional(Type.Integer({ minimum: 16, maximum: 65_536 })),
      builds: Type.Optional(Type.Integer({ minimum: 1, maximum: 64 })),
      network: Type.Optional(
        section({
          mode: Type.Optional(Type.Enum(['public', 'none'])),
          allow: Type.Optional(Type.Array(destination, { maxItems: 256 })),
          dns: Type.Optional(Type.Array(resolver, { maxItems: 3 })),
        }),
      ),
    }),
  ),
});
export type OperatorFileText = Static<typeof operatorFileSchema>;
