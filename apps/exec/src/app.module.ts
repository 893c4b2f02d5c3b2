import { Projections, projectionsController } from '@berth/operations';
import { Module, type DynamicModule } from '@nestjs/common';
import { ExecHandlers } from './assemble.js';
import { ExecNatsController } from './exec.nats-controller.js';

@Module({})
export class AppModule {
  static forRoot(handlers: ExecHandlers, projections: Projections): DynamicModule {
    return {
      module: AppModule,
      controllers: [ExecNatsController, projectionsController('exec')],
      providers: [
        { provide: ExecHandlers, useValue: handlers },
        { provide: Projections, useValue: projections },
      ],
    };
  }
}
