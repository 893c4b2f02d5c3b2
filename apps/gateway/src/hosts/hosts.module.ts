import { Module } from '@nestjs/common';
import { HostConnections } from './host-connections.js';
import { HostSockets } from './host-sockets.js';

@Module({ providers: [HostConnections, HostSockets], exports: [HostConnections, HostSockets] })
export class HostsModule {}
