import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { AuthenticateNatsController } from './authenticate/authenticate.nats-controller.js';
import { AuthenticateQuery } from './authenticate/authenticate.query.js';
import { KeyCommandHandler } from './key/key.command-handler.js';
import { KeyNatsController } from './key/key.nats-controller.js';
import { KeyListNatsController } from './key-list/key-list.nats-controller.js';
import { KeyListQuery } from './key-list/key-list.query.js';
import { operationsControllers, operationsProviders, type Operations } from '@berth/operations';

/** What the controllers hand requests to. */
export interface AppParts {
  readonly authenticate: AuthenticateQuery;
  readonly keys: KeyCommandHandler;
  readonly keyList: KeyListQuery;
}

@Module({})
export class AppModule {
  static forRoot(parts: AppParts, operations: Operations): DynamicModule {
    const providers: Provider[] = [
      { provide: AuthenticateQuery, useValue: parts.authenticate },
      { provide: KeyCommandHandler, useValue: parts.keys },
      { provide: KeyListQuery, useValue: parts.keyList },
      ...operationsProviders(operations),
    ];
    return {
      module: AppModule,
      providers,
      controllers: [
        AuthenticateNatsController,
        KeyNatsController,
        KeyListNatsController,
        ...operationsControllers('accounts'),
      ],
    };
  }
}
