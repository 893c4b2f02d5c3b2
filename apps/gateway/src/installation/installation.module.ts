import { Module } from '@nestjs/common';
import { BoundInstallation } from './bound-installation.js';
import { InstallationCheck } from './installation-check.js';

/** For a gateway in its own process: it has no event log, so it cannot claim the installation's name. */
@Module({ providers: [BoundInstallation, InstallationCheck] })
export class InstallationModule {}
