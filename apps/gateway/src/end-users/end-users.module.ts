import { Module } from '@nestjs/common';
import { AppProxyModule } from '../app-proxy/app-proxy.module.js';
import { EndUsersController } from './end-users.controller.js';
import { EndUserDefaultsController, PolicyController } from './policy.controller.js';
import { TokensController } from './tokens.controller.js';

@Module({
  imports: [AppProxyModule],
  controllers: [EndUsersController, PolicyController, EndUserDefaultsController, TokensController],
})
export class EndUsersModule {}
