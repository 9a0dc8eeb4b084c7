//! Waste around a service: spent before each request, and added to its response.

use std::task::{Context, Poll};

use http::{HeaderName, HeaderValue, Response};
use tower::layer::util::Identity;
use tower::util::{Either, MapResponseLayer, option_layer};
use tower::{Layer, Service};

use super::Waste;

/// Spends waste before each request: the outer half of [`Waste::layer`].
#[derive(Clone, Copy, Debug)]
pub struct Spend(Waste);

/// Adds the header to each response: the inner half of [`Waste::layer`]; does nothing without a header.
type Adorn<F> = Either<MapResponseLayer<F>, Identity>;

/// A service that spends waste before each request.
#[derive(Clone, Copy, Debug)]
pub struct Spending<S> {
    waste: Waste,
    inner: S,
}

impl Waste {
    /// Wastes in every request of the wrapped service. Around a whole router it takes no allocation and no system
    /// call of its own, and about a hundred instructions.
    #[must_use]
    pub fn layer<B>(self) -> (Spend, Adorn<impl Fn(Response<B>) -> Response<B> + Clone>) {
        let adorn = self.header().map(|(name, value)| {
            MapResponseLayer::new(move |mut answer: Response<B>| {
                answer.headers_mut().insert(name.clone(), value.clone());
                answer
            })
        });
        (Spend(self), option_layer(adorn))
    }

    /// The wasted header.
    ///
    /// Its value is made of letters whose Huffman code in HTTP/2 is 8 bits long (RFC 7541, appendix B), and is marked as
    /// sensitive, so that it is sent in full every time: a byte of it is a byte on the wire in both versions of HTTP.
    fn header(self) -> Option<(HeaderName, HeaderValue)> {
        let letters = "X".repeat(usize::from(self.header_bytes));
        let mut value = HeaderValue::try_from(letters).expect("letters are a good header value");
        value.set_sensitive(true);
        (self.header_bytes > 0).then(|| (HeaderName::from_static("x-waste"), value))
    }
}

impl<S> Layer<S> for Spend {
    type Service = Spending<S>;

    fn layer(&self, inner: S) -> Spending<S> {
        Spending { waste: self.0, inner }
    }
}

impl<S: Service<Q>, Q> Service<Q> for Spending<S> {
    type Response = S::Response;
    type Error = S::Error;
    type Future = S::Future;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Q) -> Self::Future {
        self.waste.spend();
        self.inner.call(request)
    }
}
