import { Module } from '@nestjs/common';
import { EndUsersController } from './end-users.controller.js';

@Module({ controllers: [EndUsersController] })
export class EndUsersModule {}
