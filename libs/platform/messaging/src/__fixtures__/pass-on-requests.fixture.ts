import { defineRequest } from '@berth/kernel';

/** The handler of `passOn` first sends `gate`, then `begin`. */
export const passOnRequests = {
  passOn: defineRequest<null, string>('cmd.echo.pass-on.v1', 20_000),
  gate: defineRequest<null, null>('qry.echo.gate.v1', 20_000),
  begin: defineRequest<null, null>('cmd.echo.begin.v1', 10_000, { onlyWhileAwaited: true }),
};
