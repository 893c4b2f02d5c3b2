import { Module } from '@nestjs/common';
import { AppProxyModule } from '../app-proxy/app-proxy.module.js';
import { EnvController } from './env.controller.js';

@Module({ imports: [AppProxyModule], controllers: [EnvController] })
export class EnvModule {}
