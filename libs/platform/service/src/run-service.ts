import type { Env } from '@berth/config';
import type { Type } from '@nestjs/common';
import { definitionOf } from './definition-of.js';
import { launchService } from './launch-service.js';
import { runMain } from './run-main.js';
import type { ServiceSettings } from './service-definition.js';

/**
 * Runs the service of a module as this process, configured by `env`, until SIGTERM or SIGINT. For the exit codes see
 * `runMain`.
 */
export const runService = (module: Type, env: Env): Promise<void> => {
  const { name, readConfig } = definitionOf(module);
  return runMain<ServiceSettings>({
    name,
    env,
    readConfig,
    start: (config, log) => launchService(module, { config, log }),
  });
};
