import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { AuthenticateNatsController } from './authenticate/authenticate.nats-controller.js';
import { AuthenticateQuery } from './authenticate/authenticate.query.js';
import { KeyCommandHandler } from './key/key.command-handler.js';
import { KeyNatsController } from './key/key.nats-controller.js';
import { KeyListNatsController } from './key-list/key-list.nats-controller.js';
import { KeyListQuery } from './key-list/key-list.query.js';
import { Projections, projectionsController } from '@berth/operations';

/** What the controllers hand requests to. */
export interface AppParts {
  readonly authenticate: AuthenticateQuery;
  readonly keys: KeyCommandHandler;
  readonly keyList: KeyListQuery;
  readonly projections: Projections;
}

@Module({})
export class AppModule {
  static forRoot(parts: AppParts): DynamicModule {
    const providers: Provider[] = [
      { provide: AuthenticateQuery, useValue: parts.authenticate },
      { provide: KeyCommandHandler, useValue: parts.keys },
      { provide: KeyListQuery, useValue: parts.keyList },
      { provide: Projections, useValue: parts.projections },
    ];
    return {
      module: AppModule,
      providers,
      controllers: [
        AuthenticateNatsController,
        KeyNatsController,
        KeyListNatsController,
        projectionsController('accounts'),
      ],
    };
  }
}
