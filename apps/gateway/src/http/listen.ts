import type { NestFastifyApplication } from '@nestjs/platform-fastify';

interface ListenAddress {
  readonly host: string;
  readonly port: number;
  /** The variable that sets the port. */
  readonly variable: string;
}

/**
 * Listens and returns the URL for callers on this machine. Throws an error that says what to change if the address
 * cannot be used.
 */
export const listenOn = async (
  app: NestFastifyApplication,
  { host, port }: Pick<ListenAddress, 'host' | 'port'>,
): Promise<string> => {
  try {
    await app.listen(port, host);
  } catch (error) {
    throw explainListenError(error, { host, port, variable: 'PORT' });
  }
  const address: unknown = app.getHttpServer().address();
  const bound =
    typeof address === 'object' && address !== null && 'port' in address ? Number(address.port) : port;
  return `http://localhost:${bound}`;
};

/** Says what to change if a server cannot listen; other errors stay as they are. */
export const explainListenError = (error: unknown, { host, port, variable }: ListenAddress): unknown => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE')
    return new Error(
      `Port ${port} on ${host} is in use by another program. Set ${variable} to a free port.`,
      {
        cause: error,
      },
    );
  if (code === 'EACCES')
    return new Error(`Port ${port} needs elevated privileges. Set ${variable} to a port above 1023.`, {
      cause: error,
    });
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return new Error(`BERTH_HOST (${host}) is not an address of this machine.`, { cause: error });
  return error;
};
