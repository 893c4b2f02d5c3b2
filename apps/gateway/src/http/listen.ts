import type { NestFastifyApplication } from '@nestjs/platform-fastify';

/**
 * Listens and returns the URL for callers on this machine. Throws an error that says what to change if the address
 * cannot be used.
 */
export const listenOn = async (
  app: NestFastifyApplication,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<string> => {
  try {
    await app.listen(port, host);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'EADDRINUSE') {
      throw new Error(`Port ${port} on ${host} is in use by another program. Set PORT to a free port.`, {
        cause: error,
      });
    }
    if (code === 'EACCES')
      throw new Error(`Port ${port} needs elevated privileges. Set PORT to a port above 1023.`, {
        cause: error,
      });
    if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
      throw new Error(`BERTH_HOST (${host}) is not an address of this machine.`, { cause: error });
    }
    throw error;
  }
  const address: unknown = app.getHttpServer().address();
  const bound =
    typeof address === 'object' && address !== null && 'port' in address ? Number(address.port) : port;
  return `http://localhost:${bound}`;
};
