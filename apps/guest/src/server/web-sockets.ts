import type { RawData, WebSocketServer } from 'ws';

/** Loads `ws` with the first socket, because loading it takes a tenth of the start of a guest. */
export const createWebSocketServer = async (
  maxMessageBytes: number,
  protocol?: string,
): Promise<WebSocketServer> => {
  const { WebSocketServer: Server } = await import('ws');
  return new Server({
    noServer: true,
    clientTracking: true,
    maxPayload: maxMessageBytes,
    perMessageDeflate: false,
    ...(protocol === undefined
      ? {}
      : { handleProtocols: (offered: Set<string>) => (offered.has(protocol) ? protocol : false) }),
  });
};

/** The bytes of a message. */
export const toBuffer = (data: RawData): Buffer => {
  if (Buffer.isBuffer(data)) return data;
  return Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data);
};
