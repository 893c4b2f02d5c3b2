export { deliveryRequests, type Chat, type ChatReply, type DeliverAttachment } from './delivery.requests.js';
export { chatBody, type ChatBody } from './delivery.schemas.js';
export { deliveryErrors } from './delivery.errors.js';
export { handOverRequests, type HandOver, type HandOverOutcome } from './hand-over.requests.js';
