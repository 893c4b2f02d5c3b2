import { GUEST_ROUTES, type CloseViewers } from '@berth/guest-protocol';
import { notUnderstood } from '../../guest-requests.js';
import type { Route } from '../../server/guest-server.js';
import type { ViewerSession } from './viewer.js';
import type { Viewers } from './viewers.js';

/** `GET /v1/desktop/vnc?session=&mode=&takeover=` and `POST /v1/desktop/viewers/close` */
export const viewerRoutes = (viewers: Viewers): readonly Route[] => [
  {
    ...GUEST_ROUTES.vnc,
    upgrade: async (request, socket, head) => {
      const { searchParams } = new URL(request.url ?? '/', 'http://guest');
      await viewers.open(request, socket, head, readSession(searchParams));
    },
  },
  {
    ...GUEST_ROUTES.closeViewers,
    handle: async ({ body }) => {
      await viewers.close(readClosing(body));
      return {};
    },
  },
];

const readSession = (query: URLSearchParams): ViewerSession => {
  const sessionId = query.get('session');
  const mode = query.get('mode');
  if (sessionId === null || (mode !== 'view' && mode !== 'control')) throw notUnderstood();
  return { sessionId, mode, takeover: mode === 'control' && query.get('takeover') === 'true' };
};

const readClosing = (body: unknown): CloseViewers => {
  const { sessionIds } = (body ?? {}) as Partial<CloseViewers>;
  if (sessionIds !== null && !Array.isArray(sessionIds)) throw notUnderstood();
  return { sessionIds };
};
