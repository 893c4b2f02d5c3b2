import Type from 'typebox';
import { oneOf, orNull, text, whole, type Shape } from '../schema/index.js';

export const FEEDBACK_KINDS = [
  'bug',
  'feature_request',
  'docs',
  'question',
  'performance',
  'billing',
  'security',
  'other',
] as const;
export type FeedbackKind = (typeof FEEDBACK_KINDS)[number];

/** How many reports an account may send. */
export const FEEDBACK_LIMITS = { perMinute: 5, perDay: 20 } as const;

/** `POST /api/v1/feedback` */
export const feedbackBody = Type.Object(
  {
    kind: oneOf(FEEDBACK_KINDS),
    message: text({ max: 10_000 }),
    subject: Type.Optional(orNull(text({ min: 0, max: 200 }))),
    tool: Type.Optional(
      orNull(text({ min: 0, max: 200 }), { description: 'What was used: a client library, curl.' }),
    ),
    requestId: Type.Optional(
      orNull(text({ min: 0, max: 128 }), { description: '`X-Request-Id` of the response it is about.' }),
    ),
    statusCode: Type.Optional(orNull(whole(100, 599))),
  },
  { $id: 'FeedbackBody' },
);
export type FeedbackBody = Shape<typeof feedbackBody>;
