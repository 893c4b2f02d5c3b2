import { Module } from '@nestjs/common';
import { HostConnections } from './host-connections.js';

@Module({ providers: [HostConnections], exports: [HostConnections] })
export class HostsModule {}
