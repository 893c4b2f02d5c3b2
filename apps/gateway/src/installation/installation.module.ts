import { Module } from '@nestjs/common';
import { BoundInstallation } from './bound-installation.js';
import { InstallationCheck } from './installation-check.js';

/** For a gateway in its own process. Without an event log it cannot claim the installation's name, only check it. */
@Module({ providers: [BoundInstallation, InstallationCheck] })
export class InstallationModule {}
