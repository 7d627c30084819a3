//! Takes connections and answers on them, with a limit on how long a client may take to say what it wants.

mod linger;
mod unread;

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::{Request, header};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tower::ServiceExt;

use self::linger::Lingering;

/// How long a client may take to send the head of a request: half-sent ones must not hold sockets for ever.
const HEADER_READ: Duration = Duration::from_secs(15);
/// How long to leave the listener alone when no connection can be taken, as when there are no more file handles.
const TAKE_AGAIN: Duration = Duration::from_millis(100);

/// How connections are taken.
#[derive(Debug, Clone, Copy)]
pub struct Listening {
    /// Whether every connection comes from a reverse proxy that says for whom it speaks.
    pub behind_proxy: bool,
    /// How long what is in flight may take at the end.
    pub grace: Duration,
}

/// Answers until `stop` ends; then finishes what is in flight. False when the grace was not enough for that.
pub async fn answer(
    listener: TcpListener,
    router: Router,
    listening: Listening,
    stop: impl Future<Output = ()>,
) -> bool {
    let mut protocol = Builder::new(TokioExecutor::new());
    protocol.http1().timer(TokioTimer::new()).header_read_timeout(HEADER_READ);
    protocol.http2().timer(TokioTimer::new());
    let open = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let taken = tokio::select! {
            taken = listener.accept() => taken,
            () = &mut stop => break,
        };
        match taken {
            Ok((stream, peer)) => serve(&protocol, &open, &router, listening.behind_proxy, stream, peer),
            Err(error) => {
                tracing::warn!(%error, "a connection could not be taken");
                tokio::time::sleep(TAKE_AGAIN).await;
            }
        }
    }
    drop(listener);
    tokio::time::timeout(listening.grace, open.shutdown()).await.is_ok()
}

fn serve(
    protocol: &Builder<TokioExecutor>,
    open: &GracefulShutdown,
    router: &Router,
    behind_proxy: bool,
    stream: TcpStream,
    peer: SocketAddr,
) {
    // Small answers go out at once.
    let _ = stream.set_nodelay(true);
    let router = router.clone();
    let service = service_fn(move |mut request: Request<Incoming>| {
        let client = if behind_proxy { told_by_proxy(&mut request, peer) } else { peer };
        request.extensions_mut().insert(ConnectInfo(client));
        let (request, unread) = unread::watch(request);
        let answer = router.clone().oneshot(request.map(Body::new));
        async move {
            let mut answer = answer.await?;
            unread.tell(&mut answer);
            Ok::<_, Infallible>(answer)
        }
    });
    let connection =
        protocol.serve_connection_with_upgrades(TokioIo::new(Lingering::new(stream)), service).into_owned();
    let watched = open.watch(connection);
    tokio::spawn(async move {
        if let Err(error) = watched.await {
            tracing::debug!(%error, "a connection ended early");
        }
    });
}

/// The client that a proxy names, and the host that the client asked for. Only the last name counts: the proxy wrote it,
/// and anybody could have written those before it.
fn told_by_proxy(request: &mut Request<Incoming>, proxy: SocketAddr) -> SocketAddr {
    let headers = request.headers_mut();
    if let Some(host) = headers.get("X-Forwarded-Host").cloned() {
        headers.insert(header::HOST, host);
    }
    let forwarded = headers.get_all("X-Forwarded-For").iter().next_back().and_then(|it| it.to_str().ok());
    let client = forwarded.and_then(|names| names.rsplit(',').next()?.trim().parse::<IpAddr>().ok());
    client.map_or(proxy, |ip| SocketAddr::new(ip, 0))
}
