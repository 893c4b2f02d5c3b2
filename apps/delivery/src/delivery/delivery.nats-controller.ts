import {
  deliveryRequests,
  handOverRequests,
  type Chat,
  type ChatReply,
  type DeliverAttachment,
  type HandOver,
  type HandOverOutcome,
} from '@berth/contracts/delivery';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { AttachmentCommandHandler } from './attachment.command-handler.js';
import { ChatCommandHandler } from './chat.command-handler.js';
import { HandOverCommandHandler } from './hand-over.command-handler.js';

@Controller()
export class DeliveryNatsController {
  constructor(
    private readonly chats: ChatCommandHandler,
    private readonly attachments: AttachmentCommandHandler,
    private readonly handOvers: HandOverCommandHandler,
  ) {}

  @HandleRequest(deliveryRequests.chat)
  chat(request: Chat): Promise<ChatReply> {
    return this.chats.handle(request);
  }

  @HandleRequest(deliveryRequests.deliverAttachment)
  deliverAttachment(request: DeliverAttachment): Promise<{ readonly deliveryId: string }> {
    return this.attachments.handle(request);
  }

  @HandleRequest(handOverRequests.handOver)
  handOver(request: HandOver): Promise<HandOverOutcome> {
    return this.handOvers.handle(request);
  }
}
