export { deliveryRequests, type Chat, type ChatReply, type TellAttachment } from './delivery.requests.js';
export { deliveryErrors } from './delivery.errors.js';
