import { readEnv, ServiceEnv, type Env } from '@berth/config';
import { readOperatorSettings, type OperatorSettings } from '@berth/operator-file';
import { CONNECTIONS, shareOfDescriptors } from '@berth/sockets';

export abstract class LlmConfig extends ServiceEnv {
  /** Where the route is served. Port 0 picks a free port; `url` is the address that gateways use. */
  abstract readonly port: {
    readonly host: string;
    readonly port: number;
    readonly url: string | undefined;
  };
  abstract readonly maxConnections: number;
  abstract readonly operator: OperatorSettings;
  /** The value of a variable that the operator's file names. */
  abstract readonly apiKey: (variable: string) => string | undefined;
}

/**
 * The common variables, BERTH_LLM_HOST (127.0.0.1), BERTH_LLM_PORT (0), BERTH_LLM_URL, BERTH_CONFIG (berth.yaml in
 * BERTH_DATA) and the variables with the keys of providers that the operator's file names. Throws `ConfigError`.
 */
export const readLlmConfig = (env: Env): LlmConfig => {
  const reader = readEnv(env);
  return reader.done({
    ...reader.serviceEnv(),
    port: {
      host: reader.string('BERTH_LLM_HOST', '127.0.0.1'),
      port: reader.integer('BERTH_LLM_PORT', { default: 0, min: 0, max: 65_535 }),
      url: reader.optionalUrl('BERTH_LLM_URL', ['http', 'https']),
    },
    maxConnections: shareOfDescriptors(CONNECTIONS.llm),
    operator: readOperatorSettings(reader),
    apiKey: (variable) => env[variable],
  });
};
