import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { HostsModule } from '../hosts/hosts.module.js';
import { AppAccess } from './app-access.js';
import { AppConnections } from './app-connections.js';
import { AppEntrance } from './app-entrance.js';
import { AppForwarder } from './app-forwarder.js';
import { AppOrigins } from './app-origins.js';
import { AppProxyHook } from './app-proxy.hook.js';
import { AppSessions } from './app-sessions.js';
import { AppUrls } from './app-urls.js';

@Module({
  imports: [AuthModule, HostsModule],
  providers: [
    AppOrigins,
    AppUrls,
    AppSessions,
    AppAccess,
    AppEntrance,
    AppConnections,
    AppForwarder,
    AppProxyHook,
  ],
  exports: [AppOrigins, AppProxyHook, AppUrls],
})
export class AppProxyModule {}
