import { Module } from '@nestjs/common';
import { EndUsersController } from './end-users.controller.js';
import { TokensController } from './tokens.controller.js';

@Module({ controllers: [EndUsersController, TokensController] })
export class EndUsersModule {}
