import { finished } from 'node:stream/promises';
import { screenOf, type Size } from '@berth/contracts/computers/plan';
import { GUEST_ROUTES } from '@berth/guest-protocol';
import { Semaphore } from '../../files/semaphore.js';
import { notUnderstood } from '../../guest-requests.js';
import type { StreamRoute } from '../../server/stream-route.js';
import { desktopUnavailable, type FindDesktop } from '../find-desktop.js';
import type { ImageRequest } from './screen.js';

/** Images that are in memory at a time until their callers have read them; the others wait. */
const IMAGES_AT_A_TIME = 4;
const DESKTOP_WITHIN_MS = 10_000;

/** `GET /v1/desktop/screenshot?format=&quality=&scale=` */
export const screenshotRoute = (findDesktop: FindDesktop, display: Size): StreamRoute => {
  const sending = new Semaphore(IMAGES_AT_A_TIME);
  return {
    ...GUEST_ROUTES.screenshot,
    stream: ({ query, response, gone }) =>
      sending.run(async () => {
        const desktop = await findDesktop(DESKTOP_WITHIN_MS);
        if (desktop === undefined) throw desktopUnavailable();
        const { format, width, height, data, capturedAt } = await desktop.screen.capture(
          readImage(query, display),
        );
        response.writeHead(200, {
          'content-type': `image/${format}`,
          'content-length': data.length,
          'berth-width': width,
          'berth-height': height,
          'berth-captured-at': new Date(capturedAt).toISOString(),
        });
        response.end(data);
        // A caller that hangs up wants no more of it.
        await finished(response).catch(() => undefined);
      }, gone),
  };
};

const readImage = (query: URLSearchParams, display: Size): ImageRequest => {
  const format = query.get('format');
  const quality = Number(query.get('quality'));
  const scale = Number(query.get('scale'));
  const isValid = quality >= 1 && quality <= 100 && scale >= 0.1 && scale <= 1;
  if ((format !== 'png' && format !== 'jpeg') || !isValid) throw notUnderstood();
  return { format, quality, size: screenOf(display, scale).size };
};
