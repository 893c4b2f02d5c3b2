import type { BuildFailureCode } from '@berth/contracts/runtime';

/** Why a build failed. The message is shown to the agent's owner: it names no path of the host and no secret. */
export class BuildFailure extends Error {
  override readonly name = 'BuildFailure';

  constructor(
    readonly code: BuildFailureCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
