"""From blocks to plain, checked loops: small pure passes and the pipeline that runs them."""
