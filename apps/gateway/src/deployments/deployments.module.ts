import { Module } from '@nestjs/common';
import { AppProxyModule } from '../app-proxy/app-proxy.module.js';
import { DeploymentsController } from './deployments.controller.js';

@Module({ imports: [AppProxyModule], controllers: [DeploymentsController] })
export class DeploymentsModule {}
