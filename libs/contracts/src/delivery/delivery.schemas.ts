import Type from 'typebox';
import { JSON_BODY_LIMIT, orNull, text, type Shape } from '../schema/index.js';

/** `POST /api/agents/{agent_id}/chat` */
export const chatBody = Type.Object(
  {
    message: text(
      { max: JSON_BODY_LIMIT },
      { description: 'Without NUL characters; the body may be 1 MiB.' },
    ),
    conversation_id: Type.Optional(
      orNull(text({ max: 128 }), {
        description:
          'Continues that conversation, or opens it. Without it, continues the current one of the agent.',
      }),
    ),
  },
  { $id: 'ChatBody' },
);
export type ChatBody = Shape<typeof chatBody>;
