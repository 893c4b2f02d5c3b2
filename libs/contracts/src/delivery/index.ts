export { deliveryRequests, type Chat, type ChatReply, type DeliverAttachment } from './delivery.requests.js';
export { chatBody, type ChatBody } from './delivery.schemas.js';
export { deliveryErrors } from './delivery.errors.js';
export { handOverRequests, type HandOver, type HandOverOutcome } from './hand-over.requests.js';
export { saysHandedOver } from './handed-over.js';
export {
  listWebhookDeliveriesQuery,
  WEBHOOK_LIMITS,
  WEBHOOK_STATUSES,
  type ListWebhookDeliveriesQuery,
  type WebhookStatus,
} from './webhooks.schemas.js';
export {
  webhookRequests,
  type AcceptedWebhook,
  type AuthorizeWebhook,
  type InvokeWebhook,
  type ListWebhookDeliveries,
  type RedeliverWebhook,
  type WebhookCaller,
  type WebhookDeliveryView,
  type WebhookToken,
  type WebhookTokenOf,
} from './webhooks.requests.js';
