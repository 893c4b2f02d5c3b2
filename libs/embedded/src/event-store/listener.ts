import { ServerCredentials, type Server } from '@grpc/grpc-js';
import { createServer, type AddressInfo, type Server as TcpServer } from 'node:net';
import { isOwnPeer } from './peer-user.js';

/** Listens for the gRPC server and lets in this user's and root's connections only. */
export interface Listener {
  readonly port: number;
  /** Takes no more connections. */
  close(): void;
}

/** Rejects when the port is taken. */
export const listen = (server: Server, host: string, port: number): Promise<Listener> =>
  new Promise((resolve, reject) => {
    const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
    const listener: TcpServer = createServer({ noDelay: true }, (socket) => {
      if (isOwnPeer(socket)) injector.injectConnection(socket);
      else socket.destroy();
    });
    listener.once('error', reject);
    listener.listen(port, host, () => {
      const { port: bound } = listener.address() as AddressInfo;
      resolve({
        port: bound,
        close: () => {
          listener.close();
          injector.destroy();
        },
      });
    });
  });
