import Type from 'typebox';
import {
  EXTERNAL_USER_ID,
  IDLE_SECONDS_TEXT,
  idleSeconds,
  number,
  oneOf,
  orNull,
  pageMembers,
  RESOURCE_NAME,
  text,
  usageMembers,
  whole,
  withDefault,
  type Shape,
} from '../schema/index.js';
import { commandMembers } from '../hosting/index.js';
import { COMPUTER_STATUSES, VIEWER_MODES } from './computer.view.js';

const DEFAULT_IDLE_SECONDS = 900;

/** `POST /api/v1/computers` */
export const createComputerBody = Type.Object(
  {
    externalUserId: Type.Optional(
      orNull(Type.String(), {
        description:
          'The external id of the end user who owns the computer, who is created if unknown and has one computer: a repeated request returns it. Another than 1 to 128 letters, digits and `_ @ . : + -`, and `.` and `..`, are 400 `invalid_external_id`.',
      }),
    ),
    name: Type.Optional(orNull(text(RESOURCE_NAME), { description: 'Need not be unique.' })),
    display: Type.Optional(
      orNull(
        Type.Object({
          width: Type.Optional(orNull(whole(640, 2_560))),
          height: Type.Optional(orNull(whole(480, 1_600))),
        }),
        { description: 'Pixels; by default 1280 × 800.' },
      ),
    ),
    idleTtlSeconds: Type.Optional(
      orNull(
        idleSeconds({
          description: `Seconds without activity until the computer sleeps: ${IDLE_SECONDS_TEXT}. Default ${DEFAULT_IDLE_SECONDS}.`,
        }),
      ),
    ),
  },
  { $id: 'CreateComputerBody' },
);
export type CreateComputerBody = Shape<typeof createComputerBody>;

/** What a creation takes where its body says nothing. */
export const COMPUTER_DEFAULTS = {
  display: { width: 1_280, height: 800 },
  idleTtlSeconds: DEFAULT_IDLE_SECONDS,
} as const;

/** `GET /api/v1/computers` */
export const listComputersQuery = Type.Object({
  externalUserId: Type.Optional(text({ max: EXTERNAL_USER_ID.max })),
  status: Type.Optional(oneOf(COMPUTER_STATUSES)),
  ...pageMembers,
});
export type ListComputersQuery = Shape<typeof listComputersQuery>;

export const IMAGE_FORMATS = ['png', 'jpeg'] as const;

/** `GET /api/v1/computers/{computer_id}/screenshot` */
export const screenshotQuery = Type.Object({
  format: withDefault(oneOf(IMAGE_FORMATS), 'png'),
  quality: withDefault(whole(1, 100, { description: 'Of a JPEG.' }), 80),
  scale: withDefault(number(0.1, 1), 1),
});
export type ScreenshotQuery = Shape<typeof screenshotQuery>;

/** `POST /api/v1/computers/{computer_id}/exec` */
export const computerExecBody = Type.Object(
  {
    command: commandMembers.command,
    detached: Type.Optional(
      orNull(Type.Literal(false), { description: 'Commands of computers are attached: true is 400.' }),
    ),
    timeout: commandMembers.timeout,
    cwd: commandMembers.cwd,
    env: commandMembers.env,
  },
  { $id: 'ComputerExecBody' },
);
export type ComputerExecBody = Shape<typeof computerExecBody>;

/** `POST /api/v1/computers/{computer_id}/viewer` */
export const viewerBody = Type.Object(
  {
    mode: Type.Optional(orNull(oneOf(VIEWER_MODES), { description: 'By default `view`.' })),
    ttlSeconds: Type.Optional(orNull(whole(30, 3_600), { description: 'By default 900.' })),
    takeover: Type.Optional(
      orNull(Type.Boolean(), {
        description:
          'In `control` only: while the socket is open, actions are 409 `taken_over`. By default false.',
      }),
    ),
  },
  { $id: 'ViewerBody' },
);
export type ViewerBody = Shape<typeof viewerBody>;

/** `POST /api/v1/computers/{computer_id}/sessions/close` */
export const closeSessionsBody = Type.Object(
  { sessionId: Type.Optional(orNull(Type.String(), { description: 'By default all of the computer.' })) },
  { $id: 'CloseSessionsBody' },
);
export type CloseSessionsBody = Shape<typeof closeSessionsBody>;

/** `GET /api/v1/computers/usage` */
export const computerUsageQuery = Type.Object({
  ...usageMembers,
  computerId: Type.Optional(text({ max: 64 }, { description: 'Only this computer.' })),
});
export type ComputerUsageQuery = Shape<typeof computerUsageQuery>;
