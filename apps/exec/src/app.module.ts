import { operationsControllers, operationsProviders, type Operations } from '@berth/operations';
import { Module, type DynamicModule } from '@nestjs/common';
import { ExecHandlers } from './assemble.js';
import { ExecNatsController } from './exec.nats-controller.js';

@Module({})
export class AppModule {
  static forRoot(handlers: ExecHandlers, operations: Operations): DynamicModule {
    return {
      module: AppModule,
      controllers: [ExecNatsController, ...operationsControllers('exec')],
      providers: [{ provide: ExecHandlers, useValue: handlers }, ...operationsProviders(operations)],
    };
  }
}
