import { HandleRequest } from '@berth/messaging';
import { Controller, Module } from '@nestjs/common';
import { echoRequest, replyTo, type Question, type Reply } from './echo.request.js';

@Controller()
export class EchoController {
  @HandleRequest(echoRequest)
  echo(question: Question): Promise<Reply> {
    return Promise.resolve(replyTo(question));
  }
}

@Module({ controllers: [EchoController] })
export class EchoModule {}
