import Type from 'typebox';
import { oneOf, pageMembers, type Shape } from '../schema/index.js';

/** How far the delivery of a webhook is. */
export const WEBHOOK_STATUSES = ['queued', 'delivered', 'failed'] as const;
export type WebhookStatus = (typeof WEBHOOK_STATUSES)[number];

/** `GET /api/webhooks/{agent_id}/deliveries` */
export const listWebhookDeliveriesQuery = Type.Object({
  status: Type.Optional(oneOf(WEBHOOK_STATUSES)),
  ...pageMembers,
});
export type ListWebhookDeliveriesQuery = Shape<typeof listWebhookDeliveriesQuery>;

/** Limits of webhooks, per agent. */
export const WEBHOOK_LIMITS = {
  /** Invokes of one caller in 60 s; wrong tokens have a count of their own. */
  perMinute: 30,
  queuedDeliveries: 1_000,
  queuedBytes: 64 * 1024 * 1024,
  /** How long a message waits for an agent that cannot take it. */
  heldHours: 24,
  /** How long a body is kept after its delivery has ended. */
  bodyKeptHours: 24,
  /** How long deliveries are listed. */
  listedDays: 30,
} as const;
