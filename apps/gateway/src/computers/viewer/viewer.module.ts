import { Module } from '@nestjs/common';
import { AppProxyModule } from '../../app-proxy/app-proxy.module.js';
import { AuthModule } from '../../auth/auth.module.js';
import { HostsModule } from '../../hosts/hosts.module.js';
import { PublicOrigin } from '../../http/public-origin.js';
import { ComputerReports } from '../computer-reports.js';
import { ViewerHook } from './viewer.hook.js';
import { ViewerOrigin } from './viewer-origin.js';
import { ViewerSecrets } from './viewer-secrets.js';
import { ViewerServer } from './viewer-server.js';
import { ViewerSessions } from './viewer-sessions.js';
import { ViewerSockets } from './viewer-sockets.js';

/** The pages and sockets of viewers, on an origin of their own. */
@Module({
  imports: [AppProxyModule, AuthModule, HostsModule],
  providers: [
    ComputerReports,
    PublicOrigin,
    ViewerHook,
    ViewerOrigin,
    ViewerSecrets,
    ViewerServer,
    ViewerSessions,
    ViewerSockets,
  ],
  exports: [ComputerReports, ViewerHook, ViewerOrigin, ViewerSecrets],
})
export class ViewerModule {}
