import { deliveryRequests, type Chat, type ChatReply } from '@berth/contracts-delivery';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { ChatCommandHandler } from './chat.command-handler.js';

@Controller()
export class DeliveryNatsController {
  constructor(private readonly chats: ChatCommandHandler) {}

  @HandleRequest(deliveryRequests.chat)
  chat(request: Chat): Promise<ChatReply> {
    return this.chats.handle(request);
  }
}
