export { deliveryRequests, type Chat, type ChatReply } from './delivery.requests.js';
