import { Clipboard } from './clipboard/clipboard.js';
import { Keyboard } from './input/keyboard.js';
import { Pointer } from './input/pointer.js';
import { ReadingBarrier } from './input/reading-barrier.js';
import { XInput } from './input/x-input.js';
import { FrameSource } from './screen/frame-source.js';
import { Screen } from './screen/screen.js';
import { paintWallpaper } from './session/wallpaper.js';
import { untilManaged } from './session/window-manager.js';
import { XConnection, type XDisplay } from './x11/x-connection.js';
import { packRequest } from './x11/x-packing.js';

/** What acts on a desktop: its parts share one lasting connection to its X server, and start no program. */
export interface Desktop {
  readonly pointer: Pointer;
  readonly keyboard: Keyboard;
  readonly clipboard: Clipboard;
  readonly screen: Screen;
  /** Paints the background, which stays as long as this connection. */
  readonly paintWallpaper: () => Promise<void>;
  /** Resolves when a window manager has taken the display, after 5 s at the latest. */
  readonly untilManaged: () => Promise<void>;
  /** Resolves with the reason when the X server has ended; from then on every call fails with it. */
  readonly lost: Promise<Error>;
  close(): void;
}

/** Errors: unavailable `display_lost`, timeout `display_unresponsive`, unsupported `display_unsupported`. */
export const openDesktop = async (display: XDisplay): Promise<Desktop> => {
  const connection = await XConnection.open(display);
  try {
    await allowLongRequests(connection);
    const [input, barrier, source, clipboard] = await Promise.all([
      XInput.open(connection),
      ReadingBarrier.open(connection),
      FrameSource.open(connection),
      Clipboard.open(connection),
    ]);
    const sync = (): Promise<void> => connection.sync();
    return {
      pointer: new Pointer(input, sync),
      keyboard: new Keyboard(input, barrier, sync),
      clipboard,
      screen: new Screen(source),
      paintWallpaper: () => paintWallpaper(connection),
      untilManaged: () => untilManaged(connection),
      lost: connection.lost,
      close: () => connection.close(),
    };
  } catch (error) {
    connection.close();
    throw error;
  }
};

/** A text on the clipboard is longer than 262,140 bytes at times. */
const allowLongRequests = async (connection: XConnection): Promise<void> => {
  const extension = await connection.extension('BIG-REQUESTS');
  if (extension !== undefined) await connection.ask(packRequest(extension.opcode, 0));
};
