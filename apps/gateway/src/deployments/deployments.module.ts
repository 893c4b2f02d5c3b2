import { Module } from '@nestjs/common';
import { DeploymentsController } from './deployments.controller.js';

@Module({ controllers: [DeploymentsController] })
export class DeploymentsModule {}
