import { Module } from '@nestjs/common';
import { AppProxyModule } from '../app-proxy/app-proxy.module.js';
import { EndUserAgentsController } from './end-user-agents.controller.js';
import { EndUsersController } from './end-users.controller.js';
import { EndUserDefaultsController, PolicyController } from './policy.controller.js';
import { TokensController } from './tokens.controller.js';

@Module({
  imports: [AppProxyModule],
  controllers: [
    EndUsersController,
    EndUserAgentsController,
    PolicyController,
    EndUserDefaultsController,
    TokensController,
  ],
})
export class EndUsersModule {}
