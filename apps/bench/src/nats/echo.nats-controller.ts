import { HandleRequest } from '@berth/messaging';
import { Controller, Module } from '@nestjs/common';
import { echoRequest, replyTo, type EchoRequest, type EchoReply } from './echo.request.js';

@Controller()
export class EchoController {
  @HandleRequest(echoRequest)
  echo(request: EchoRequest): Promise<EchoReply> {
    return Promise.resolve(replyTo(request));
  }
}

@Module({ controllers: [EchoController] })
export class EchoModule {}
