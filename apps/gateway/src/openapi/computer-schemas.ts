import type { ComputerUsageFigures, ComputerUsageRow } from '@berth/contracts/billing';
import {
  COMPUTER_STATUSES,
  IMAGE_FORMATS,
  VIEWER_MODES,
  type ActionsAnswer,
  type ComputerView,
  type Image,
  type ViewerSessionView,
} from '@berth/contracts/computers';
import type { OpenedViewer } from '../computers/viewer/opened-viewer.js';
import {
  bool,
  integer,
  integerOrNull,
  list,
  number,
  object,
  page,
  ref,
  text,
  textOrNull,
  time,
  timeOrNull,
  view,
  type JsonSchema,
  type MembersOf,
} from './json-schema.js';
import { cents, hostingBasis, usageReport } from './usage-schemas.js';

const computerId: JsonSchema = { ...text, examples: ['cmp_01jd2m3k4n5p6q7r8s9t0v1w2x'] };
const sessionId: JsonSchema = { ...text, examples: ['vws_01jd2m3k4n5p6q7r8s9t0v1w2x'] };
const mode: JsonSchema = { enum: [...VIEWER_MODES] };
const point = object({ x: integer, y: integer });

const output: JsonSchema = {
  type: 'object',
  additionalProperties: true,
  description:
    'Of a `tool_use` block its `tool_result`, of a `computer_call` item its `computer_call_output`.',
};

const result: JsonSchema = object(
  {
    index: integer,
    type: { ...text, description: 'The name of the action, or `computer_call`.' },
    ok: bool,
    error: object({ code: text, message: text }),
    output,
    x: { ...integer, description: 'Of `cursor_position`, as `y`.' },
    y: integer,
    text: { ...text, description: 'Of `clipboard_get`.' },
    screenshot: ref('Screenshot'),
  },
  ['error', 'output', 'x', 'y', 'text', 'screenshot'],
);

const figures: MembersOf<ComputerUsageFigures> = {
  activeSeconds: number,
  wakes: integer,
  actions: { ...integer, description: 'Rows of results.' },
  screenshots: { ...integer, description: 'Images, those of actions included.' },
  executions: integer,
  hostingCents: { ...cents, description: '0 on a seat plan.' },
  totalCents: cents,
};

const ofPerson: JsonSchema = {
  ...textOrNull,
  description: 'Null once the end user of the computer is deleted.',
};

/** The schemas of responses about computers. */
export const COMPUTER_SCHEMAS: { readonly [name: string]: JsonSchema } = {
  Computer: view<ComputerView>({
    id: computerId,
    externalUserId: textOrNull,
    name: textOrNull,
    status: { enum: [...COMPUTER_STATUSES] },
    display: object({ width: integer, height: integer }),
    resources: object({ memMb: integer, vcpus: number, diskGb: integer }),
    idleTtlSeconds: { ...integer, description: '0: always on.' },
    createdAt: time,
    lastActiveAt: time,
    sleepAt: timeOrNull,
  }),
  ComputerPage: page('Computer'),
  Screenshot: view<Image>({
    format: { enum: [...IMAGE_FORMATS] },
    width: integer,
    height: integer,
    data: { ...text, contentEncoding: 'base64' },
    capturedAt: time,
  }),
  ActionResults: view<ActionsAnswer>(
    {
      results: list(result),
      failedIndex: { ...integerOrNull, description: 'Of the first action that failed.' },
      skipped: {
        ...list(object({ index: integer, output }, ['output'])),
        description: 'The actions after a failure that ended the batch.',
      },
      cursor: point,
      screenshot: ref('Screenshot'),
      durationMs: integer,
    },
    ['screenshot'],
  ),
  OpenedViewer: view<OpenedViewer>({
    sessionId,
    url: { ...text, description: 'The page. Whoever has it can open the session.' },
    socketUrl: { ...text, description: 'A WebSocket with the subprotocol `binary` that speaks RFB 3.8.' },
    mode,
    takeover: bool,
    expiresAt: time,
  }),
  ViewerSession: view<ViewerSessionView>({
    sessionId,
    mode,
    takeover: bool,
    status: { enum: ['waiting', 'open'], description: '`waiting`: no socket has been opened yet.' },
    createdAt: time,
    openedAt: timeOrNull,
    expiresAt: time,
  }),
  ViewerSessionList: object({ items: list(ref('ViewerSession')) }),
  ClosedSessions: object({ closed: integer }),
  ComputerUsageRow: view<ComputerUsageRow>({
    computerId,
    name: ofPerson,
    externalUserId: ofPerson,
    hostingBasis,
    ...figures,
    vcpuSeconds: number,
    memGbSeconds: number,
    diskGbSeconds: number,
  }),
  ComputerUsageReport: usageReport('ComputerUsageRow', view<ComputerUsageFigures>(figures)),
};
