import Type from 'typebox';
import { cursor, isoTime, oneOf, whole, withDefault, type Shape } from '../schema/index.js';

export const LOG_LEVELS = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const LOG_SOURCES = ['agent', 'system', 'build'] as const;
export type LogSource = (typeof LOG_SOURCES)[number];

/** `GET /api/agents/{agent_id}/logs` */
export const logsQuery = Type.Object({
  limit: withDefault(whole(1, 1_000), 100),
  level: Type.Optional(oneOf(LOG_LEVELS, { description: 'The lowest level shown.' })),
  since: Type.Optional(isoTime({ description: 'Only entries at or after this time.' })),
  source: Type.Optional(oneOf(LOG_SOURCES)),
  cursor: cursor('`nextCursor` of an earlier response: return the entries after it.'),
  follow: withDefault(
    Type.Boolean({ description: 'Keep the response open and send entries as server-sent events.' }),
    false,
  ),
});
export type LogsQuery = Shape<typeof logsQuery>;
