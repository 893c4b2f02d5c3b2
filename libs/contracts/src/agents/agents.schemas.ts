import Type from 'typebox';
import {
  diskGb,
  EXTERNAL_USER_ID,
  IDLE_SECONDS_TEXT,
  idleSeconds,
  listWithUnique,
  memMb,
  oneOf,
  orNull,
  pageMembers,
  RESOURCE_NAME,
  text,
  textsByName,
  variableName,
  variableValue,
  vcpus,
  whole,
  withDefault,
  type Shape,
  type TextBounds,
} from '../schema/index.js';
import { AGENT_LIMITS } from './agent-limits.js';
import { AGENT_STATES } from './agent.view.js';

/** The caller's own identifier of an agent: a single line of any text. */
const EXTERNAL_ID: TextBounds = {
  max: 256,
  pattern: /^[^\p{Cc}]+$/u,
  means: 'must not contain control characters',
};

/** Label names fit into the filter `label=name=value`. */
const LABEL_NAME: TextBounds = {
  max: 64,
  pattern: /^[A-Za-z0-9][A-Za-z0-9._/-]*$/,
  means: 'may contain letters, digits and . _ / - only and must begin with a letter or digit',
};
const LABEL_VALUE: TextBounds = { min: 0, max: 256 };
const MAX_LABELS = 64;

const DEFAULT_IDLE_SECONDS = 900;

const idleTtlSeconds = idleSeconds({
  description: `Seconds without activity until the agent sleeps: ${IDLE_SECONDS_TEXT}. Default ${DEFAULT_IDLE_SECONDS}.`,
});

const envValueMembers = {
  value: variableValue({ description: 'Without NUL characters.' }),
  isSecret: Type.Optional(
    orNull(Type.Boolean(), {
      description:
        'Secret values are encrypted at rest and read back as `********`. If absent, an existing variable keeps its setting and a new one is not secret.',
    }),
  ),
  secret: Type.Optional(orNull(Type.Boolean(), { description: 'Alias of `isSecret`.' })),
};

/** `PUT /api/agents/{agent_id}/env/{key}` */
export const envValueBody = Type.Object(envValueMembers, { $id: 'EnvValueBody' });
export type EnvValueBody = Shape<typeof envValueBody>;

/** One variable in the body of an agent's creation. */
export const envVarBody = Type.Object({ key: variableName, ...envValueMembers }, { $id: 'EnvVarBody' });
export type EnvVarBody = Shape<typeof envVarBody>;

/** Requested resources of an agent; absent members default to the template's. */
export const resourcesBody = Type.Object(
  {
    memMb: Type.Optional(orNull(memMb())),
    vcpus: Type.Optional(orNull(vcpus())),
    diskGb: Type.Optional(orNull(diskGb())),
  },
  { $id: 'ResourcesBody' },
);
export type ResourcesBody = Shape<typeof resourcesBody>;

/** A body may hold as many variables as an agent. */
const envOfBody = Type.Unsafe<EnvVarBody[] | Record<string, string>>({
  oneOf: [
    listWithUnique(envVarBody, AGENT_LIMITS.variables, 'key'),
    textsByName(AGENT_LIMITS.variables, variableName, variableValue()),
  ],
});

/** `POST /api/agents` */
export const createAgentBody = Type.Object(
  {
    name: text(RESOURCE_NAME, { description: 'Unique in the account.' }),
    templateId: text({ max: 128 }, { description: 'From `GET /api/templates`.' }),
    externalId: Type.Optional(
      orNull(text(EXTERNAL_ID), {
        description: "The caller's own identifier, unique in the account. No control characters.",
      }),
    ),
    externalUserId: Type.Optional(
      orNull(Type.String(), {
        description:
          'The external id of the end user who owns the agent, who is created if unknown. Another than 1 to 128 letters, digits and `_ @ . : + -`, and `.` and `..`, are 400 `invalid_external_id`. Needs the scope `manage` too.',
      }),
    ),
    instructions: Type.Optional(
      orNull(
        text({ min: 0, max: AGENT_LIMITS.instructionsBytes, maxBytes: AGENT_LIMITS.instructionsBytes }),
        { description: `At most ${AGENT_LIMITS.instructionsBytes} bytes of UTF-8.` },
      ),
    ),
    idleTtlSeconds: Type.Optional(orNull(idleTtlSeconds)),
    labels: Type.Optional(
      orNull(textsByName(MAX_LABELS, text(LABEL_NAME), text(LABEL_VALUE)), {
        description: `At most ${MAX_LABELS}; names of 1 to ${LABEL_NAME.max} letters, digits and \`. _ / -\`, values to ${LABEL_VALUE.max} characters.`,
      }),
    ),
    env: Type.Optional(
      orNull(envOfBody, {
        description: 'Environment variables: a list, or an object of values that are not secret.',
      }),
    ),
    resources: Type.Optional(orNull(resourcesBody)),
  },
  { $id: 'CreateAgentBody' },
);
export type CreateAgentBody = Shape<typeof createAgentBody>;

/** `POST /api/v1/end-users/{external_id}/agents` */
export const createAgentOfEndUserBody = Type.Object(
  {
    ...createAgentBody.properties,
    name: Type.Optional(
      orNull(createAgentBody.properties.name, { description: 'Default: the external id.' }),
    ),
    externalUserId: Type.Optional(Type.Unknown({ description: 'Ignored: the path names the end user.' })),
  },
  { $id: 'CreateAgentOfEndUserBody' },
);
export type CreateAgentOfEndUserBody = Shape<typeof createAgentOfEndUserBody>;

/** `GET /api/agents` */
export const listAgentsQuery = Type.Object({
  externalId: Type.Optional(text({ max: EXTERNAL_ID.max })),
  externalUserId: Type.Optional(text({ max: EXTERNAL_USER_ID.max })),
  state: Type.Optional(oneOf(AGENT_STATES)),
  name: Type.Optional(text({ max: RESOURCE_NAME.max }, { description: 'The whole name.' })),
  label: Type.Optional(
    text({ max: LABEL_NAME.max + '='.length + LABEL_VALUE.max }, { description: '`name`, or `name=value`.' }),
  ),
  ...pageMembers,
});
export type ListAgentsQuery = Shape<typeof listAgentsQuery>;

/** `GET /api/agents/{agent_id}` */
export const getAgentQuery = Type.Object({
  wait: Type.Optional(
    oneOf(AGENT_STATES, {
      description: 'Respond as soon as the agent is in this state or `failed`, or the timeout expires.',
    }),
  ),
  timeout: withDefault(whole(1, 60, { description: 'Seconds to wait.' }), 30),
});
export type GetAgentQuery = Shape<typeof getAgentQuery>;
