import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { codeOf } from '../../files/file-refusals.js';

/** The socket of the X server with that display number. With `-displayfd` it is all that a server keeps outside its folder. */
export const serverSocket = (display: number): string => `/tmp/.X11-unix/X${display}`;

/** Removes the socket that a killed X server has left, unless another server has taken its number. */
export const removeAbandonedSocket = async (display: number): Promise<void> => {
  const socket = connect(serverSocket(display));
  try {
    await once(socket, 'connect');
  } catch (error) {
    if (codeOf(error) === 'ECONNREFUSED') rmSync(serverSocket(display), { force: true });
  } finally {
    socket.destroy();
  }
};
