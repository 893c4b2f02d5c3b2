import type { Type } from '@nestjs/common';
import { MODULE_METADATA } from '@nestjs/common/constants.js';
import { PlatformModule } from './platform.module.js';
import type { ServiceDefinition } from './service-definition.js';

/** The definition that a service's module gives to `PlatformModule.forService`. */
export const definitionOf = (module: Type): ServiceDefinition => {
  const imports: unknown = Reflect.getMetadata(MODULE_METADATA.IMPORTS, module);
  for (const imported of Array.isArray(imports) ? imports : []) {
    if (PlatformModule.isForService(imported)) return imported.definition;
  }
  throw new Error(`${module.name} must import PlatformModule.forService(…).`);
};
