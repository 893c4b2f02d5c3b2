import { Module } from '@nestjs/common';
import { AccountsController } from './accounts.controller.js';
import { OwnAccountController } from './own-account.controller.js';

@Module({ controllers: [AccountsController, OwnAccountController] })
export class AccountsModule {}
