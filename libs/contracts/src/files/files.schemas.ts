import Type from 'typebox';
import type { Shape } from '../schema/index.js';

/** The most bytes of UTF-8 in a path. */
export const PATH_LIMIT_BYTES = 4_096;

/** Checks only that the path is valid Unicode; the service checks the rest, with its own error codes. */
const path = (description: string) => pathOfLength(1, description);

const pathOfLength = (minLength: number, description: string) =>
  Type.Refine(
    Type.String({ ...(minLength === 0 ? {} : { minLength }), description }),
    (value) => value.isWellFormed(),
    () => 'must be a path',
  );

const WITHIN_VOLUME = "Absolute below the agent's `root`, or relative to it.";

/** `GET /api/agents/{agent_id}/files/list` */
export const listFilesQuery = Type.Object({
  path: Type.Optional(pathOfLength(0, `${WITHIN_VOLUME} The volume itself if absent or empty.`)),
});
export type ListFilesQuery = Shape<typeof listFilesQuery>;

/** `GET /api/agents/{agent_id}/files/download` */
export const downloadQuery = Type.Object({
  path: path('Any absolute path inside the agent, or a path relative to `root`.'),
});
export type DownloadQuery = Shape<typeof downloadQuery>;

/** `DELETE /api/agents/{agent_id}/files/delete` */
export const pathQuery = Type.Object({ path: path(WITHIN_VOLUME) });
export type PathQuery = Shape<typeof pathQuery>;

/** `POST /api/agents/{agent_id}/files/mkdir` */
export const pathBody = Type.Object({ path: path(WITHIN_VOLUME) }, { $id: 'PathBody' });
export type PathBody = Shape<typeof pathBody>;

/** `POST /api/agents/{agent_id}/files/move` */
export const moveBody = Type.Object(
  { from: path(WITHIN_VOLUME), to: path(WITHIN_VOLUME) },
  { $id: 'MoveBody' },
);
export type MoveBody = Shape<typeof moveBody>;

/** `PUT /api/agents/{agent_id}/files/write`; the gateway validates `content` while it streams through. */
export const writeBody = Type.Object(
  {
    path: path(WITHIN_VOLUME),
    content: Type.String({
      description: 'Up to 104,857,600 bytes as UTF-8, without lone surrogates.',
    }),
  },
  { $id: 'WriteBody' },
);
export type WriteBody = Shape<typeof writeBody>;

/** `POST /api/agents/{agent_id}/files/upload`: the parts of a multipart form. */
export const uploadForm = Type.Object({
  file: Type.Unsafe<string>({
    type: 'string',
    format: 'binary',
    description: 'Exactly one, with a filename.',
  }),
  dest_dir: Type.Optional(
    Type.String({ maxLength: PATH_LIMIT_BYTES, description: 'A folder of the volume.' }),
  ),
  message: Type.Optional(
    Type.String({
      description: 'Sent to the agent with an attachment. All fields together are at most 1 MiB.',
    }),
  ),
});
