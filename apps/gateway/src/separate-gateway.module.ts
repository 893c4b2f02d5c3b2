import { Module } from '@nestjs/common';
import { GatewayModule } from './gateway.module.js';
import { InstallationModule } from './installation/installation.module.js';

/** The gateway in its own process. In a process with the services, their claim on the name applies to it too. */
@Module({ imports: [GatewayModule, InstallationModule] })
export class SeparateGatewayModule {}
