import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/** A port on this machine that leads to one of a container, whichever address the container has at the time. */
export class ContainerPort {
  private constructor(private readonly server: Server) {}

  static async open(addressOf: () => Promise<string>, port: number): Promise<ContainerPort> {
    const server = createServer((socket) => void forward(socket, addressOf, port));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new ContainerPort(server);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  close(): void {
    this.server.close();
  }
}

const forward = async (socket: Socket, addressOf: () => Promise<string>, port: number): Promise<void> => {
  socket.on('error', () => socket.destroy());
  try {
    const target = connect(port, await addressOf());
    target.on('error', () => socket.destroy());
    target.on('close', () => socket.destroy());
    socket.on('close', () => target.destroy());
    socket.pipe(target).pipe(socket);
  } catch {
    socket.destroy();
  }
};
