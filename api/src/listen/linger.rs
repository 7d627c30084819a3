//! A connection that outlives its last answer for a moment, so that a client that is still sending can hear it.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

/// How long a client may go on sending after the last answer.
const AT_MOST: Duration = Duration::from_secs(1);
/// How much of it is taken and thrown away. More than any limit on a body, so a slip is always told what it was.
const AT_MOST_BYTES: usize = 32 * 1024 * 1024;

/// A request may be answered before it was read to its end: a body is too large, a key is wrong. Closing a socket that
/// holds unread bytes resets it, and a reset throws away the answer on its way. So the end takes two steps: first
/// "no more from here", then what still comes in is read until the client has closed too.
pub(super) struct Lingering {
    stream: TcpStream,
    patience: Option<Pin<Box<Sleep>>>,
    left_bytes: usize,
}

impl Lingering {
    pub(super) fn new(stream: TcpStream) -> Self {
        Self { stream, patience: None, left_bytes: AT_MOST_BYTES }
    }

    /// Ready once the client has closed, or has sent more, or for longer, than is worth waiting for.
    fn poll_client_done(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let mut scrap = [0; 16 * 1024];
        let patience = self.patience.get_or_insert_with(|| Box::pin(tokio::time::sleep(AT_MOST)));
        while patience.as_mut().poll(context).is_pending() {
            let mut buffer = ReadBuf::new(&mut scrap);
            let read = ready!(Pin::new(&mut self.stream).poll_read(context, &mut buffer));
            let taken = buffer.filled().len();
            if read.is_err() || taken == 0 || taken > self.left_bytes {
                break;
            }
            self.left_bytes -= taken;
        }
        Poll::Ready(())
    }
}

impl AsyncRead for Lingering {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(context, into)
    }
}

impl AsyncWrite for Lingering {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        if self.patience.is_none() {
            ready!(Pin::new(&mut self.stream).poll_shutdown(context))?;
        }
        self.poll_client_done(context).map(Ok)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    async fn pair() -> (Lingering, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let client = TcpStream::connect(listener.local_addr().expect("an address")).await.expect("a connection");
        (Lingering::new(listener.accept().await.expect("a connection").0), client)
    }

    /// Far more than both sockets' buffers hold, so the client is still sending when the server has answered.
    #[tokio::test]
    async fn an_answer_reaches_a_client_that_is_still_sending() {
        let (mut server, mut client) = pair().await;
        let served = tokio::spawn(async move {
            server.write_all(b"enough").await.expect("the client listens");
            server.shutdown().await.expect("an end in peace");
        });
        client.write_all(&vec![0; 24 * 1024 * 1024]).await.expect("all is taken");
        client.shutdown().await.expect("an end in peace");
        let mut answer = String::new();
        client.read_to_string(&mut answer).await.expect("the answer is not lost");
        assert_eq!(answer, "enough");
        served.await.expect("no panic");
    }

    #[tokio::test]
    async fn a_client_that_never_ends_is_left() {
        let (mut server, mut client) = pair().await;
        let sent = tokio::spawn(async move { while client.write_all(&[0; 64 * 1024]).await.is_ok() {} });
        server.shutdown().await.expect("an end in peace");
        drop(server);
        sent.await.expect("no panic");
    }

    #[tokio::test]
    async fn a_client_that_says_nothing_more_is_left() {
        let (mut server, _client) = pair().await;
        server.shutdown().await.expect("an end in peace");
    }
}
