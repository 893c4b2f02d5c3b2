import RFB from '/assets/novnc/core/rfb.js';

const element = (id) => document.getElementById(id);

const AGAIN = 'A session shows a computer once: open a new one to look again.';

/** What is said when a socket that was open closes, by its code. */
const ENDS = {
  1000: ['The session is over', AGAIN],
  1001: ['The session was ended', `The service or the computer stopped. ${AGAIN}`],
  1008: ['The session was ended', `The access that it was made with is no longer valid. ${AGAIN}`],
};
const LOST = ['The connection was lost', `The computer may be asleep. ${AGAIN}`];
const GIVEN_BACK = ['You have given the computer back', AGAIN];
const GONE = ['This session is over', AGAIN];
const ELSEWHERE = ['This session is open in another window', AGAIN];
const UNREACHABLE = ['The computer cannot be reached', `Try again in a moment. ${AGAIN}`];

const MODES = { view: 'View only', control: 'You control this computer', takeover: 'You have taken over' };

/** The session, or undefined once it is over. Throws if nobody can say. */
const readSession = async () => {
  const response = await window.fetch('session', { cache: 'no-store' });
  if (response.status === 404) return undefined;
  if (!response.ok) throw new Error(`The session could not be read: ${response.status}`);
  return response.json();
};

const setState = (state, text) => {
  document.body.dataset.state = state;
  element('state').textContent = text;
};

const showEnd = ([title, text]) => {
  setState('over', 'Not connected');
  for (const id of ['open-clipboard', 'fullscreen', 'end', 'screen']) element(id).hidden = true;
  for (const id of ['mode', 'until']) element(id).textContent = '';
  element('clipboard').close();
  element('over-title').textContent = title;
  element('over-text').textContent = text;
  element('over').hidden = false;
};

const endBeforeOpen = async () => {
  const session = await readSession();
  if (session === undefined) return GONE;
  return session.status === 'open' ? ELSEWHERE : UNREACHABLE;
};

const showSession = ({ mode, takeover, expiresAt }) => {
  const time = new Date(expiresAt).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
  element('mode').textContent = takeover ? MODES.takeover : MODES[mode];
  element('until').textContent = `until ${time}`;
  element('end').textContent = takeover ? 'Give back' : 'End';
};

const offerClipboard = (rfb) => {
  const dialog = element('clipboard');
  const text = element('clipboard-text');
  element('open-clipboard').hidden = false;
  element('open-clipboard').addEventListener('click', () => dialog.showModal());
  rfb.addEventListener('clipboard', ({ detail }) => (text.value = detail.text));
  dialog.addEventListener('close', () => {
    if (dialog.returnValue === 'send') rfb.clipboardPasteFrom(text.value);
    dialog.returnValue = '';
    rfb.focus();
  });
};

const connect = (session) => {
  const url = new URL('socket', location.href);
  url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:';
  const socket = new WebSocket(url, ['binary']);
  let wasOpen = false;
  let isOurEnd = false;
  socket.addEventListener('open', () => (wasOpen = true));
  socket.addEventListener('close', ({ code }) => {
    if (isOurEnd) showEnd(session.takeover ? GIVEN_BACK : GONE);
    else if (wasOpen) showEnd(ENDS[code] ?? LOST);
    else endBeforeOpen().then(showEnd, () => showEnd(UNREACHABLE));
  });
  const rfb = new RFB(element('screen'), socket, { shared: true });
  rfb.viewOnly = session.mode === 'view';
  rfb.scaleViewport = true;
  rfb.background = 'transparent';
  rfb.addEventListener('connect', () => {
    setState('connected', 'Connected');
    element('fullscreen').hidden = !document.fullscreenEnabled;
    element('end').hidden = false;
    if (rfb.viewOnly) return;
    offerClipboard(rfb);
    rfb.focus();
  });
  element('end').addEventListener('click', () => {
    isOurEnd = true;
    rfb.disconnect();
  });
  element('fullscreen').addEventListener('click', () => {
    element('screen')
      .requestFullscreen()
      .catch(() => undefined);
  });
};

try {
  const session = await readSession();
  if (session === undefined) showEnd(GONE);
  else if (session.status === 'open') showEnd(ELSEWHERE);
  else {
    showSession(session);
    connect(session);
  }
} catch {
  showEnd(UNREACHABLE);
}
